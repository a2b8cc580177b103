import type { Sql } from './sql.ts'

/** The most connections that the server allows: the least of its own limit, the limit of the role and the limit of the database. */
export async function connectionsAllowed(sql: Sql): Promise<number> {
  const [row] = await sql<{ allowed: number }[]>`
    select least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0),
      (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
      (select nullif(datconnlimit, -1) from pg_database where datname = current_database())) as allowed`
  return row?.allowed ?? 0
}
