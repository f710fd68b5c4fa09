// other_sqlite.mjs DIR DATABASE <SQL -- the rows of every statement, by the SQLite of sql.js, which npm has installed below DIR.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [directory, path] = process.argv.slice(2);
const initSqlJs = createRequire(join(directory, 'node_modules', 'x'))('sql.js');
const db = new (await initSqlJs()).Database(readFileSync(path));

for (const result of db.exec(readFileSync(0, 'utf8')))
	for (const row of result.values) console.log(row.join(' '));
