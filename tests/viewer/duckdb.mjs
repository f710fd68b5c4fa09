// duckdb.mjs DIR SQL -- runs SQL in DuckDB's Node.js binding, which npm has installed below DIR, and prints the rows as CSV without a header,
// as `duckdb -csv -noheader -c SQL` does.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [directory, sql] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(join(directory, 'node_modules', 'x'))('@duckdb/node-api');
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const rows = (await connection.runAndReadAll(sql)).getRows();

for (const row of rows) console.log(row.join(','));
