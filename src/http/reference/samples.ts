import type { Operation } from './document.ts'

/** A sample of an operation in TypeScript. Scalar makes the samples in curl and Python itself. */
export type Sample = { lang: string; label: string; source: string }

export type SampleWords = { base: string; baseVariable: string; secretVariable: string }

export function sampleOf(name: string, operation: Operation, words: SampleWords): Sample {
  const [method, path] = name.split(' ') as [string, string]
  const lines = [
    `const api = process.env.${words.baseVariable} ?? 'http://localhost:8080${words.base}'`,
    '',
    ...fetchLines(`\${api}${path.replace('{id}', '1')}`, method, operation, words),
    'if (!response.ok) throw new Error(await response.text())',
    `console.log(await response.${isJson(operation) ? 'json' : 'text'}())`,
  ]
  return { lang: 'typescript', label: 'TypeScript', source: lines.join('\n') }
}

function fetchLines(address: string, method: string, operation: Operation, { secretVariable }: SampleWords): string[] {
  const json = operation.requestBody?.content['application/json']
  const form = operation.requestBody?.content['multipart/form-data']
  const value = Object.values(json?.examples ?? {})[0]?.value
  const headers = [
    ...(operation.security!.length > 0 ? [`Authorization: \`Bearer \${process.env.${secretVariable}}\``] : []),
    ...(json ? ["'Content-Type': 'application/json'"] : []),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} },`] : []),
    ...(json ? [`body: JSON.stringify(${JSON.stringify(value, null, 2)}),`] : form ? ['body: form,'] : []),
  ]
  return [
    ...(form && !json ? formLines : []),
    options.length > 0
      ? `const response = await fetch(\`${address}\`, {`
      : `const response = await fetch(\`${address}\`)`,
    ...options.flatMap(option => option.split('\n').map(line => `  ${line}`)),
    ...(options.length > 0 ? ['})'] : []),
  ]
}

const formLines = [
  "import { openAsBlob } from 'node:fs'",
  '',
  'const form = new FormData()',
  "form.set('file', await openAsBlob('letter.pdf'), 'letter.pdf')",
]

const isJson = ({ responses }: Operation) =>
  Object.values(responses).some(({ content }) => content && 'application/json' in content)
