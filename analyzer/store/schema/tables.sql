-- All tables, and the descriptions of all relations: relations.def.
@tables@
@descriptions@
