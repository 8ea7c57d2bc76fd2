"""Rows past memory: tables of many files, lazy frames and queries, scanned into codes that stay on disk."""
