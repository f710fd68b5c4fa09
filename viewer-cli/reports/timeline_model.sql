-- timeline_model: at most one row: the name of the model :id, with its app, because models of several apps may have one name.
@relations@SELECT ifnull(a.name || '/', '') || m.name FROM models m JOIN model d ON d.id = m.id LEFT JOIN apps a ON a.id = d.app_id WHERE m.id = :id
