import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../../domain/audit-log/entry.ts'
import type { Person } from '../../../domain/people/person.ts'

/** The person in the form of the audit log: login, address and browser. */
export const actorOf = (
  { ip, id, headers }: Pick<FastifyRequest, 'ip' | 'id' | 'headers'>,
  { kind, login, personId }: Pick<Person, 'kind' | 'login' | 'personId'>,
): Actor => ({ kind, name: login, personId, address: ip, agent: headers['user-agent'] ?? '', requestId: id })
