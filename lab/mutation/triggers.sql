-- Every trigger as the statement that makes it.
SELECT relname AS of, tgname AS guard, pg_get_triggerdef(pg_trigger.oid) AS definition
FROM pg_trigger
JOIN pg_class ON tgrelid = pg_class.oid
WHERE NOT tgisinternal
  AND relnamespace = 'public'::regnamespace
ORDER BY 1, 2
