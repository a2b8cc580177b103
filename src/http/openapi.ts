import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { completeDocument, type Words } from './reference/complete.ts'
import type { Document } from './reference/document.ts'

export type Face = {
  title: string
  description: string
  /** A path without a host, so that the reference works under every host name of the service. */
  serverUrl: string
  security: Record<string, object>
  words: Words
  /** Adds descriptions that the schemas of the routes do not have. */
  addOwn?: (document: Document) => void
}

/**
 * Describes one API in OpenAPI 3.1, from the same schemas that validate its requests. Register it before the routes of the
 * API. The caller serves the document.
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
      // A deep copy: the document contains the schemas that validate requests, and some of them several times.
      const document = JSON.parse(JSON.stringify(described.openapiObject))
      completeDocument(document, face.words, face.addOwn)
      return document
    },
  })
}
