import { expect, test } from 'vitest'
import { isConnectionLost, isDatabaseAway } from './database-losses.ts'

const withCode = (code: string) => Object.assign(new Error(), { code })

test.each(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'CONNECTION_CLOSED', '57P01', '57P03'])(
  '%s means that the connection was lost and the database cannot be reached',
  code => {
    expect([isConnectionLost(withCode(code)), isDatabaseAway(withCode(code))]).toEqual([true, true])
  },
)

test.each(['ECONNREFUSED', 'ENOTFOUND', 'CONNECT_TIMEOUT', '53300', '25006'])(
  '%s means that the database cannot be reached, and no open connection was lost',
  code => {
    expect([isConnectionLost(withCode(code)), isDatabaseAway(withCode(code))]).toEqual([false, true])
  },
)

test.each([withCode('23505'), withCode('57014'), new Error('a bug'), undefined, null, 'text'])(
  '%s is neither',
  error => {
    expect([isConnectionLost(error), isDatabaseAway(error)]).toEqual([false, false])
  },
)
