import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../../domain/audit-log/entry.ts'
import type { Person } from '../../../domain/people/person.ts'

/** A person, as the audit log names who changed something and from where. */
export const actorOf = (
  { ip, id, headers }: Pick<FastifyRequest, 'ip' | 'id' | 'headers'>,
  { kind, login, personId }: Pick<Person, 'kind' | 'login' | 'personId'>,
): Actor => ({ kind, name: login, personId, address: ip, agent: headers['user-agent'] ?? '', requestId: id })
