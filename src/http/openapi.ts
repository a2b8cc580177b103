import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'

/**
 * Describes one face in OpenAPI 3.1, from the same schemas that validate its requests. Register it before the routes
 * of the face; the document is then served at `path`.
 */
export async function describeApi(
  api: FastifyInstance,
  face: { title: string; description: string; serverUrl: string; security: Record<string, object> },
) {
  await api.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: face.title, description: face.description, version: '1' },
      servers: [{ url: face.serverUrl }],
      components: { securitySchemes: face.security as never },
    },
  })
}
