import { Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyInstance, FastifyRequest, RequestPayload } from 'fastify'
import { AppError, invalid } from '../../base/errors.ts'
import { tooLargeFor } from './body.ts'

/**
 * Accepts bodies compressed with gzip and refuses every other encoding. The body limit of the route holds for the
 * decompressed bytes: decompression stops at the limit, so a small body that expands to gigabytes costs no memory.
 */
export function acceptGzipBodies(app: FastifyInstance) {
  app.addHook('preParsing', (request, _, payload, done) => {
    const encoding = encodingOf(request)
    if (encoding === 'identity') return done(null, payload)
    const refusal = refusalOf(encoding, request)
    if (refusal) done(refusal)
    else done(null, unpacked(payload, request))
  })
}

function refusalOf(encoding: string, request: FastifyRequest): AppError | undefined {
  if (encoding !== 'gzip' && encoding !== 'x-gzip') return unsupported('Content-Encoding: must be gzip or absent')
  if (isForm(request)) return unsupported('Content-Encoding: must be absent with multipart/form-data')
}

const encodingOf = ({ headers }: FastifyRequest) => headers['content-encoding']?.trim().toLowerCase() || 'identity'

/** Forms are read from the socket piece by piece, without the limits of a JSON body. */
const isForm = ({ headers }: FastifyRequest) => /^\s*multipart\//i.test(headers['content-type'] ?? '')

const unsupported = (message: string) => new AppError('unsupported_encoding', message)

function unpacked(payload: RequestPayload, request: FastifyRequest): RequestPayload {
  const { bodyLimit } = request.routeOptions
  let sizeBytes = 0
  const bounded: Transform & { receivedEncodedLength: number } = Object.assign(
    new Transform({
      transform(chunk: Buffer, _, done) {
        sizeBytes += chunk.length
        if (sizeBytes > bodyLimit) done(tooLargeFor(bodyLimit))
        else done(null, chunk)
      },
    }),
    // The framework compares this length with Content-Length, which counts the compressed bytes.
    { receivedEncodedLength: 0 },
  )
  const gunzip = createGunzip()
  payload.on('data', (chunk: Buffer) => {
    bounded.receivedEncodedLength += chunk.length
  })
  payload.once('error', error => bounded.destroy(error))
  gunzip.once('error', () => bounded.destroy(invalid('body: is not valid gzip')))
  // After the end, the limit or an error no further byte is decompressed. The rest of the request is read and discarded.
  bounded.once('close', () => {
    payload.unpipe(gunzip)
    payload.resume()
    gunzip.destroy()
  })
  return payload.pipe(gunzip).pipe(bounded)
}
