"""The lease database's SQL: its schema, the named queries, and one file a migration (read by hopline.journal.sql)."""
