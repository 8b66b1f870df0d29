-- name: free
-- The number of free pages.
pragma freelist_count

-- name: manner
-- Whether the file can return free pages: 0 if it can't.
pragma auto_vacuum

-- name: give_back
-- Return free pages; the caller appends their number in parentheses.
pragma incremental_vacuum

-- name: write_back
-- Write the log back into the file, as far as possible without blocking other connections.
pragma wal_checkpoint(passive)
