/** Reads the part of PromQL that our alerts and panels use, without Prometheus. */

export type Matcher = { label: string; operator: string; value: string }
/** A metric of an expression with all labels that the expression takes from it. */
export type Selector = { name: string; labels: Set<string>; matchers: Matcher[] }
export type Expression = {
  selectors: Selector[]
  /** Labels that aggregations keep. Undefined without an aggregation: then the result has all labels of the metrics. */
  kept: Set<string> | undefined
}

const aggregations = new Set(['sum', 'min', 'max', 'count', 'topk'])
const functions = new Set(['absent', 'changes', 'histogram_quantile', 'max_over_time', 'rate', 'time', 'vector'])
const operators = new Set(['and', 'or', 'unless', 'on', 'ignoring', 'offset'])

const TOKEN = /\s+|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[a-z_]\w*|\d+[smhd]\b|\d+(?:\.\d+)?|[=!]~|[=!<>]=|[-+*/<>=,(){}]/giy
const DURATION = /^\[(?:\d+[smhd](?::\d+[smhd])?|\$__rate_interval)\]$/

export function readExpression(text: string): Expression {
  const tokens = tokensOf(text)
  const result: Expression = { selectors: [], kept: undefined }
  let at = 0
  const next = () => tokens[at++] ?? fail(text, 'ends too early')
  const take = (token: string) =>
    next() === token || fail(text, `needs ${token} before "${tokens.slice(at).join(' ')}"`)

  /** Up to the closing parenthesis, or to the end. */
  const readTerms = (isInside: boolean): Selector[] => {
    const found: Selector[] = []
    while (at < tokens.length) {
      const token = next()
      if (token === ')') return isInside ? found : fail(text, 'has a ) too many')
      if (token === '(') found.push(...readTerms(true))
      else if (aggregations.has(token)) found.push(...readAggregation())
      else if (token === 'on' || token === 'ignoring') readNames()
      else if (/^[a-z_]/i.test(token) && !operators.has(token)) found.push(...readNamed(token))
      else if (token.startsWith('[') && !DURATION.test(token)) fail(text, `has no duration in ${token}`)
    }
    return isInside ? fail(text, 'lacks a )') : found
  }
  const readAggregation = (): Selector[] => {
    const labels = readGrouping()
    take('(')
    const inside = readTerms(true)
    for (const label of labels) for (const selector of inside) selector.labels.add(label)
    result.kept = new Set([...(result.kept ?? []), ...labels])
    return inside
  }
  const readGrouping = (): string[] => {
    if (tokens[at] !== 'by') return []
    take('by')
    return readNames()
  }
  const readNamed = (name: string): Selector[] => {
    if (tokens[at] === '(') {
      if (!functions.has(name)) fail(text, `calls the unknown function ${name}`)
      next()
      return readTerms(true)
    }
    const matchers = tokens[at] === '{' ? readMatchers() : []
    const selector = { name, matchers, labels: new Set(matchers.map(({ label }) => label)) }
    result.selectors.push(selector)
    return [selector]
  }
  const readMatchers = (): Matcher[] => {
    const found: Matcher[] = []
    take('{')
    while (tokens[at] !== '}') {
      const [label, operator, value] = [next(), next(), next()]
      if (!['=', '!=', '=~', '!~'].includes(operator)) fail(text, `compares ${label} by ${operator}`)
      found.push({ label, operator, value: JSON.parse(value) })
      if (tokens[at] === ',') next()
    }
    take('}')
    return found
  }
  const readNames = (): string[] => {
    const names: string[] = []
    take('(')
    for (let token = next(); token !== ')'; token = next()) if (token !== ',') names.push(token)
    return names
  }

  readTerms(false)
  return result
}

function tokensOf(text: string): string[] {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const from = TOKEN.lastIndex
    const token = TOKEN.exec(text)?.[0] ?? fail(text, `cannot be read from "${text.slice(from)}"`)
    if (token.trim() !== '') tokens.push(token)
  }
  return tokens
}

function fail(text: string, reason: string): never {
  throw new Error(`The expression ${reason}: ${text}`)
}
