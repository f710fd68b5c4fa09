-- timeline_app: at most one row: the name of the app :id.
@relations@SELECT name FROM apps WHERE id = :id
