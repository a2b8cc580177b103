import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedServer } from '../src/db/embedded/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { dumpSchema } from '../src/db/schema-dump.ts'
import { connect } from '../src/db/sql.ts'

/** Writes schema.sql: what the migrations make of an empty database. */
const dataDir = await mkdtemp(join(tmpdir(), 'tidings-dump-'))
try {
  const server = await openEmbeddedServer({ dataDir, settings: { fsync: 'off' } })
  const sql = connect(server.url, { max: 2 })
  try {
    await migrate(sql)
    await writeFile(new URL('../schema.sql', import.meta.url), await dumpSchema(sql))
  } finally {
    await sql.end()
    await server.release()
  }
} finally {
  await rm(dataDir, { recursive: true, force: true })
}
