-- name: free
-- How many pages hold nothing.
pragma freelist_count

-- name: manner
-- Whether the file can give pages back: 0 where it can't.
pragma auto_vacuum

-- name: give_back
-- Give so many back; the number follows in parentheses.
pragma incremental_vacuum

-- name: write_back
-- Write the log back into the file, as far as that disturbs nobody.
pragma wal_checkpoint(passive)
