"""Records as they might have been."""

from __future__ import annotations

from dataclasses import replace

from bayescout.experiments import Records


def changed(records, change, **declared):
    """The records, with the measures that `change` gives for each one declared so."""
    keys = {record.key for record in records.where(**declared)}
    return Records(
        replace(record, measures={**record.measures, **change(record)}) if record.key in keys else record
        for record in records
    )
