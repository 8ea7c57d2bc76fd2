"""Files: networks and structures, read and written, one module per format."""

from bayescout.formats.library import NetworkInfo, load_network, networks
from bayescout.formats.registry import (
    FORMATS,
    Format,
    check_can_hold,
    format_of,
    open_network,
    open_structure,
    read_network,
    read_structure,
    write_network,
    write_structure,
)
from bayescout.formats.uai import read_uai_evidence, write_uai_evidence

__all__ = [
    "FORMATS",
    "Format",
    "NetworkInfo",
    "check_can_hold",
    "format_of",
    "load_network",
    "networks",
    "open_network",
    "open_structure",
    "read_network",
    "read_structure",
    "read_uai_evidence",
    "write_network",
    "write_structure",
    "write_uai_evidence",
]
