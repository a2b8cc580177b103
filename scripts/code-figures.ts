/**
 * Prints how readable the code is, as numbers: circles of imports with their files, lengths of functions and the longest
 * ones with their places, files per folder, tables that several slices write, casts and `!`.
 *
 *   npm run -s code:figures
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'
import { writersOfTables } from '../src/testing/table-writers.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Folders with the code of the product. Tests and what only tests use are not counted. */
const folders = ['src', 'web/src', 'widget']
const FULL_FOLDER = 15
/** The number of functions that are printed with their places. */
const LONGEST = 10

type Node = { type: string; start: number; end: number; [key: string]: unknown }
type Source = { path: string; text: string; nodes: Node[] }

function main() {
  const sources = folders.flatMap(filesIn).map(readSource)
  const functions = sources.flatMap(functionsIn).sort((a, b) => a.lines - b.lines)
  const lengths = functions.map(({ lines }) => lines)
  print('source files', sources.length)
  print('functions', lengths.length)
  print('lines of a function, median', quantile(lengths, 0.5))
  print('lines of a function, 90th percentile', quantile(lengths, 0.9))
  print('lines of the longest function', lengths.at(-1) ?? 0)
  printAll(
    'longest functions',
    functions
      .slice(-LONGEST)
      .reverse()
      .map(({ lines, place }) => `${place}: ${lines}`),
  )
  printAll(
    'circles of imports',
    circlesIn(sources).map(circle => circle.join(', ')),
  )
  printAll(`folders with more than ${FULL_FOLDER} files`, fullFolders(sources))
  printAll(
    'tables that several folders write',
    [...writersOfTables()]
      .filter(([, by]) => by.size > 1)
      .map(([table, by]) => `${table}: ${[...by].sort().join(', ')}`),
  )
  print('casts (`as`, without `as const`)', count(sources, isCast))
  print(
    '`!` after an expression',
    count(sources, ({ type }) => type === 'TSNonNullExpression'),
  )
}

// Reading -------------------------------------------------------------------------------------------------------------

const isOfTests = (path: string) => /\.(test|contract|d)\.tsx?$/.test(path) || path.startsWith('src/testing/')

const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map(file => `${folder}/${file}`)
    .filter(file => /\.tsx?$/.test(file) && !isOfTests(file))

function readSource(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8')
  const program = parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' })
  return { path, text, nodes: nodesIn(program as unknown as Node) }
}

function nodesIn(node: Node): Node[] {
  const children = Object.values(node).flatMap(value => (Array.isArray(value) ? value : [value]))
  return [node, ...children.filter(isNode).flatMap(nodesIn)]
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'

// Figures -------------------------------------------------------------------------------------------------------------

const functionTypes = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']

const functionsIn = ({ path, text, nodes }: Source) =>
  nodes
    .filter(({ type }) => functionTypes.includes(type))
    .map(({ start, end }) => ({
      place: `${path}:${text.slice(0, start).split('\n').length}`,
      lines: text.slice(start, end).split('\n').length,
    }))

const quantile = (sorted: number[], share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0

/** Sets of files that import each other, found as strongly connected components (Tarjan). Imports of types count. */
function circlesIn(sources: Source[]): string[][] {
  const paths = new Set(sources.map(({ path }) => path))
  const imports = new Map(
    sources.map(source => [source.path, importsOf(source).filter(path => paths.has(path))] as const),
  )
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []
  const visit = (path: string): number => {
    const place = order.size
    order.set(path, place)
    lowest.set(path, place)
    stack.push(path)
    for (const next of imports.get(path) ?? []) {
      const reached = order.has(next) ? (stack.includes(next) ? order.get(next) : undefined) : visit(next)
      if (reached !== undefined) lowest.set(path, Math.min(lowest.get(path) ?? place, reached))
    }
    const low = lowest.get(path) ?? place
    if (low === place) circles.push(stack.splice(stack.indexOf(path)))
    return low
  }
  for (const path of paths) if (!order.has(path)) visit(path)
  return circles.filter(circle => circle.length > 1)
}

const importsOf = ({ path, nodes }: Source): string[] =>
  nodes
    .filter(({ type }) => /^(Import|Export(All|Named))Declaration$/.test(type))
    .map(({ source }) => (source as { value?: unknown } | null)?.value)
    .filter((name): name is string => typeof name === 'string' && name.startsWith('.'))
    .map(name => resolve('/', dirname(path), name).slice(1))

function fullFolders(sources: Source[]): string[] {
  const files = new Map<string, number>()
  for (const { path } of sources) files.set(dirname(path), (files.get(dirname(path)) ?? 0) + 1)
  return [...files]
    .filter(([, count]) => count > FULL_FOLDER)
    .sort((a, b) => b[1] - a[1])
    .map(([folder, count]) => `${folder}: ${count}`)
}

const count = (sources: Source[], is: (node: Node) => boolean): number =>
  sources.reduce((sum, { nodes }) => sum + nodes.filter(is).length, 0)

const isCast = ({ type, typeAnnotation }: Node): boolean =>
  type === 'TSAsExpression' && (typeAnnotation as { typeName?: { name?: string } }).typeName?.name !== 'const'

// Printing ------------------------------------------------------------------------------------------------------------

const print = (what: string, value: number) => console.log(`${String(value).padStart(6)}  ${what}`)

function printAll(what: string, lines: string[]) {
  print(what, lines.length)
  for (const line of lines) console.log(`        ${line}`)
}

main()
