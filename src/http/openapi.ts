import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'

export type Face = {
  title: string
  description: string
  serverUrl: string
  security: Record<string, object>
  /** Adds what no schema of a route says. */
  complete?: (document: never) => void
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
      servers: [{ url: face.serverUrl }],
      components: { securitySchemes: face.security as never },
    },
    transformObject: described => {
      if (!('openapiObject' in described)) return described.swaggerObject
      // A copy, for the schemas in it are those that validate.
      const document = structuredClone(described.openapiObject)
      markOptionalBodies(document as Document)
      face.complete?.(document as never)
      return document
    },
  })
}

type Document = { paths: Record<string, Record<string, { requestBody?: Body }>> }
type Body = { required?: boolean; content: Record<string, { schema: { type?: string | string[] } }> }

/** The generator calls every body required; one that may be null may be left out. */
function markOptionalBodies({ paths }: Document) {
  for (const { requestBody } of Object.values(paths).flatMap(Object.values<Document['paths'][string][string]>)) {
    const schemas = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)
    if (requestBody && schemas.every(({ type }) => type?.includes('null'))) requestBody.required = false
  }
}
