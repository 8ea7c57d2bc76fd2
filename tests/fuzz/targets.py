"""Everything that is fuzzed, by name: adding a target is a `Target` and a place in one of these lists."""

from __future__ import annotations

from tests.fuzz.command_targets import COMMAND_TARGETS
from tests.fuzz.format_targets import FORMAT_TARGETS
from tests.fuzz.object_targets import OBJECT_TARGETS
from tests.fuzz.search_targets import SEARCH_TARGETS
from tests.fuzz.study_targets import STUDY_TARGETS
from tests.fuzz.table_targets import TABLE_TARGETS
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        *FORMAT_TARGETS,
        *TABLE_TARGETS,
        *OBJECT_TARGETS,
        *SEARCH_TARGETS,
        *STUDY_TARGETS,
        *COMMAND_TARGETS,
    )
}
