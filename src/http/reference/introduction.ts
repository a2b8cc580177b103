import { answerErrors, helpAddress } from './errors.ts'

/** The introduction of an API's reference: its purpose, authentication, and rules for every request. */
export const introductionOf = (what: string, authentication: string) =>
  [
    what,
    '',
    '## Authentication',
    '',
    authentication,
    '',
    '## Every request',
    '',
    '- Bodies are JSON in UTF-8 with `Content-Type: application/json`, unless an operation says otherwise. They may be compressed with `Content-Encoding: gzip`.',
    '- Values are taken as they are: `"5"` is not 5. Timestamps carry `Z` or an offset.',
    "- A field that the service does not know is ignored and named in the answer's header `Tidings-Ignored-Fields`. With `?strict=true` the request is refused instead.",
    '- `Idempotency-Key` on a creating request makes a repeat count once, for 24 hours.',
    '- Every answer has `X-Request-Id`, which names the request in the log of the service.',
    '',
    '## Errors',
    '',
    'Every answer that is not a success is `{"error": {"code", "msg"}}`, with a header `Link: </docs/errors#4000>; rel="help"` that leads to the explanation of its code.',
    '',
    '| Code | HTTP | Meaning |',
    '|---|---|---|',
    ...answerErrors.map(({ code, status, title }) => `| [${code}](${helpAddress(code)}) | ${status} | ${title} |`),
    '',
    `[All codes, including the error codes of messages](/docs/errors), with cause and remedy. A wrong method is 405 with the methods that the address takes in \`Allow\`.`,
  ].join('\n')
