-- scope_service: a condition on streams: those of the service in the process.
 AND (number >> 20) & 4095 IN (SELECT instance FROM service_rules JOIN process ON process.id = process_id WHERE pid = @pid@)
