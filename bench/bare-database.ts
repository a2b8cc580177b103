import postgres from 'postgres'
import { driverHost, readDatabaseAddress } from '../src/base/database-address.ts'
import type { Pool } from '../src/db/sql.ts'

/** The driver as it comes, over the same socket as the service: a floor without any setting of ours. */
export function openBareDatabase(options: { transform?: typeof postgres.camel } = {}) {
  const { driverUrl, hosts } = readDatabaseAddress(process.env.DATABASE_URL ?? '')
  return postgres(driverUrl, { ...driverHost(hosts[0]!), ...options })
}

/** The address of the server that a pool uses. */
export function urlOf({ options }: Pool): string {
  const { host, port, user, pass, database, path } = options
  const secret = pass ? `:${encodeURIComponent(String(pass))}` : ''
  const socket = path ? `?host=${encodeURIComponent(path.replace(/\/[^/]*$/, ''))}` : ''
  return `postgres://${encodeURIComponent(user)}${secret}@${host[0]}:${port[0]}/${database}${socket}`
}
