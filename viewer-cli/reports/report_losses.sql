-- Losses, for the page.
SELECT began - @began@ AS began, ended - @began@ AS ended, events, cause AS cause_word
FROM loss
ORDER BY began
LIMIT 10000
