"""The page with a server: a project, its runs, and the addresses that the page asks.

The server holds no rows and computes nothing itself: runs have a process each (`running`), answers come from
another (`answering`), so that a click never waits for a search. Needs the extra `serve`.
"""
