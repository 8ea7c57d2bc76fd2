"""Pages to look at results and studies with: self-contained HTML."""
