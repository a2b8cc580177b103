import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { completeDocument, type Words } from './reference/complete.ts'
import type { Document } from './reference/document.ts'

export type Face = {
  title: string
  description: string
  /** A path: the reference works under whatever host name the service has. */
  serverUrl: string
  security: Record<string, object>
  words: Words
  /** Adds what no schema of a route says. */
  addOwn?: (document: Document) => void
}

/**
 * Describes one face in OpenAPI 3.1, from the same schemas that validate its requests. Register it before the routes
 * of the face, which serves the document where it likes.
 */
export async function describeApi(api: FastifyInstance, face: Face) {
  await api.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: face.title, description: face.description, version: '1' },
      servers: [{ url: face.serverUrl, description: 'This service' }],
      components: { securitySchemes: face.security as never },
    },
    transformObject: described => {
      if (!('openapiObject' in described)) return described.swaggerObject
      // A copy without shared parts: the schemas in it are those that validate, and some stand in several places.
      const document = JSON.parse(JSON.stringify(described.openapiObject))
      completeDocument(document, face.words, face.addOwn)
      return document
    },
  })
}
