"""Tables: from frames, arrays and files, checked once; discretising; writing."""

from bayescout.data.discretise import Discretiser, discretise
from bayescout.data.encode import as_table
from bayescout.data.files import atomic_write
from bayescout.data.read import read_table
from bayescout.data.table import MissingReport, Table
from bayescout.data.write import write_table

__all__ = [
    "Discretiser",
    "MissingReport",
    "Table",
    "as_table",
    "atomic_write",
    "discretise",
    "read_table",
    "write_table",
]
