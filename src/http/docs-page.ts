import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'

const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

const assets = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
}

/** The interactive API reference: Swagger UI from our own server, over the documents we serve. */
export async function registerDocsPage(app: FastifyInstance) {
  app.get('/docs', { schema: { hide: true } }, async (_, reply) => reply.type('text/html; charset=utf-8').send(page))
  for (const [name, type] of Object.entries(assets)) {
    const content = await readFile(join(folder, name))
    app.get(`/docs/${name}`, async (_, reply) =>
      reply.type(type).header('cache-control', 'public, max-age=3600').send(content),
    )
  }
}

const page = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Tidings API reference</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
  <div id="reference"></div>
  <script src="/docs/swagger-ui-bundle.js"></script>
  <script src="/docs/swagger-ui-standalone-preset.js"></script>
  <script>
    SwaggerUIBundle({
      dom_id: '#reference',
      urls: [
        { name: 'Partner API', url: '/docs/partner.json' },
        { name: 'Messaging API', url: '/docs/messaging.json' },
      ],
      presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
      layout: 'StandaloneLayout',
      persistAuthorization: true,
      tryItOutEnabled: true,
      validatorUrl: null,
    })
  </script>
</body>
</html>
`
