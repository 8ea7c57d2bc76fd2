"""Pages that show results and studies: self-contained HTML."""
