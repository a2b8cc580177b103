import type { Pattern, Piece } from './pattern.ts'
import { PlaceRules, placeKinds } from './places.ts'

/** A UTF-16 unit of a literal is its own token. The tokens of places are greater than all units. */
const FIRST_PLACE = 0x10000
const PLACES_OF_A_KIND = 128

/**
 * One automaton for many patterns. It finds all patterns that fit a text in one pass over the text. The patterns are
 * merged into a prefix tree, so patterns with the same beginning are followed together. A node is a beginning of
 * patterns.
 *
 * The automaton reads a text with two lists: the nodes that fit the text so far, and the places that have begun and may
 * go on. For a place only the smallest count is kept, because it leaves the most room. So each node is in each list at
 * most once, and a character costs at most as many steps as there are nodes. Usual texts need only a few.
 */
export class Automaton {
  readonly #tree: Tree
  readonly #inNodes: Marks
  readonly #inPlaces: Marks
  readonly #rules = new PlaceRules()

  constructor(patterns: readonly Pattern[]) {
    this.#tree = mergedTree(patterns.map(tokensOf))
    this.#inNodes = new Marks(this.#tree.size)
    this.#inPlaces = new Marks(this.#tree.size)
  }

  /**
   * The number of nodes. Apart from the root, they are at most as many as the characters and places of all patterns.
   */
  get size() {
    return this.#tree.size
  }

  /** Begins to read a text, which must come from `plainText`. Several texts may be read in turns. */
  read(text: string): Reading {
    const now = emptyLists()
    now.nodes[now.nodesLength++] = 0
    return { text, at: 0, steps: 0, now, spare: emptyLists() }
  }

  /** Continues to read for about `steps` steps. Returns true if the result is known. */
  advance(reading: Reading, steps: number): boolean {
    const until = reading.steps + steps
    while (reading.at < reading.text.length) {
      const active = reading.now.nodesLength + reading.now.placesLength
      if (active === 0) return true
      if (reading.steps >= until) return false
      reading.steps += 1 + active
      if (active > 1 || !this.#followLiteral(reading)) this.#readCharacter(reading)
    }
    return true
  }

  /** The indexes of the patterns that fit the text, in no order. */
  fitting({ text, at, now }: Reading): number[] {
    if (at < text.length) return []
    return now.nodes.slice(0, now.nodesLength).flatMap(node => this.#tree.patternsAt.get(node) ?? [])
  }

  /** A fast path for the most frequent case: only one node is left, and its only child is a literal. */
  #followLiteral(reading: Reading): boolean {
    const { tokens, firstChild, childrenEnd } = this.#tree
    const { nodes, nodesLength } = reading.now
    const child = firstChild[nodes[0]!]!
    if (nodesLength === 0 || childrenEnd[nodes[0]!]! - child !== 1 || tokens[child]! >= FIRST_PLACE) return false
    if (reading.text.charCodeAt(reading.at) === tokens[child]) nodes[0] = child
    else reading.now.nodesLength = 0
    reading.at++
    return true
  }

  #readCharacter(reading: Reading) {
    const { text, at, now, spare: next } = reading
    next.nodesLength = 0
    next.placesLength = 0
    this.#inNodes.clear()
    this.#inPlaces.clear()
    this.#rules.moveTo(text, at)

    const unit = text.charCodeAt(at)
    for (let i = 0; i < now.nodesLength; i++) this.#beginChildren(now.nodes[i]!, unit, next)
    for (let i = 0; i < now.placesLength; i++) this.#goOn(now.places[i]!, now.counts[i]!, next)

    reading.now = next
    reading.spare = now
    reading.at = at + 1
  }

  #beginChildren(node: number, unit: number, next: Lists) {
    const { tokens, firstChild, childrenEnd } = this.#tree
    const first = firstChild[node]!
    let end = childrenEnd[node]!
    while (end > first && tokens[end - 1]! >= FIRST_PLACE) {
      end--
      if (this.#rules.read().begins[kindOf(tokens[end]!)]) this.#enterPlace(end, 1, next)
    }
    const child = end > first ? placeIn(tokens, first, end, unit) : -1
    if (child >= 0) this.#enterNode(child, next)
  }

  /** If the place also begins at this character, it is in the list already, and with a smaller count. */
  #goOn(node: number, count: number, next: Lists) {
    const token = this.#tree.tokens[node]!
    const kind = kindOf(token)
    const { counts, goesOn } = this.#rules.read()
    const now = count + counts[kind]!
    if (now <= mostOf(token) && goesOn[kind]) this.#enterPlace(node, now, next)
  }

  #enterPlace(node: number, count: number, next: Lists) {
    if (!this.#inPlaces.add(node)) return
    next.places[next.placesLength] = node
    next.counts[next.placesLength++] = count
    if (this.#rules.mayEnd[kindOf(this.#tree.tokens[node]!)]) this.#enterNode(node, next)
  }

  #enterNode(node: number, next: Lists) {
    if (this.#inNodes.add(node)) next.nodes[next.nodesLength++] = node
  }
}

/**
 * The nodes that fit the text so far, and the places that have begun, with their counts. The lengths are separate
 * fields: JavaScript would allocate an emptied array again for every character.
 */
type Lists = { nodes: number[]; nodesLength: number; places: number[]; counts: number[]; placesLength: number }
const emptyLists = (): Lists => ({ nodes: [], nodesLength: 0, places: [], counts: [], placesLength: 0 })

/** The state of reading one text. */
export type Reading = { text: string; at: number; steps: number; now: Lists; spare: Lists }

/** A set of nodes that is cleared in one step. */
class Marks {
  readonly #marks: Uint32Array
  #mark = 1

  constructor(size: number) {
    this.#marks = new Uint32Array(size)
  }

  clear() {
    this.#mark = this.#mark === 0xffffffff ? 1 : this.#mark + 1
    if (this.#mark === 1) this.#marks.fill(0)
  }

  /** Returns false if the node was in the set already. */
  add(node: number): boolean {
    if (this.#marks[node] === this.#mark) return false
    this.#marks[node] = this.#mark
    return true
  }
}

// Tokens ----------------------------------------------------------------------------------------------------------

function tokensOf({ pieces }: Pattern): Uint32Array {
  const length = pieces.reduce((sum, piece) => sum + (piece.kind === 'literal' ? piece.units.length : 1), 0)
  const tokens = new Uint32Array(length)
  let at = 0
  for (const piece of pieces) {
    if (piece.kind === 'literal') tokens.set(piece.units, at)
    else tokens[at] = tokenOf(piece)
    at += piece.kind === 'literal' ? piece.units.length : 1
  }
  return tokens
}

/** The first token is for numbers, which have no limit. Then come words and then digits, each by its limit. */
function tokenOf(place: Exclude<Piece, { kind: 'literal' }>): number {
  if (place.kind === 'number') return FIRST_PLACE
  return FIRST_PLACE + place.most + (place.kind === 'digits' ? PLACES_OF_A_KIND : 0)
}

function kindOf(token: number) {
  if (token === FIRST_PLACE) return placeKinds.number
  return token < FIRST_PLACE + PLACES_OF_A_KIND ? placeKinds.words : placeKinds.digits
}
const mostOf = (token: number) =>
  token === FIRST_PLACE ? Number.POSITIVE_INFINITY : (token - FIRST_PLACE) % PLACES_OF_A_KIND

// Tree ------------------------------------------------------------------------------------------------------------

/** For each node: its token, and the range of its children, which are sorted by token, so literals come first. */
type Tree = {
  size: number
  tokens: Uint32Array
  firstChild: Uint32Array
  childrenEnd: Uint32Array
  patternsAt: Map<number, number[]>
}

type Entry = { tokens: Uint32Array; pattern: number }
/**
 * The node of the sorted patterns from `from` up to `to`, which is not included. Their first `depth` tokens are equal.
 */
type Branch = { node: number; from: number; to: number; depth: number }

/**
 * Sorted patterns with the same beginning are neighbours. A node is a range of them; its children are parts of the
 * range.
 */
function mergedTree(patterns: Uint32Array[]): Tree {
  const sorted = patterns.map((tokens, pattern) => ({ tokens, pattern })).sort((a, b) => compare(a.tokens, b.tokens))
  const most = patterns.reduce((sum, tokens) => sum + tokens.length, 1)
  const tree: Tree = {
    size: 1,
    tokens: new Uint32Array(most),
    firstChild: new Uint32Array(most),
    childrenEnd: new Uint32Array(most),
    patternsAt: new Map(),
  }
  const branches: Branch[] = [{ node: 0, from: 0, to: sorted.length, depth: 0 }]
  for (let branch = branches.pop(); branch; branch = branches.pop()) {
    if (branch.to - branch.from === 1) addRest(tree, sorted[branch.from]!, branch)
    else branches.push(...addChildren(tree, sorted, branch))
  }
  return tree
}

/** Adds the remaining tokens of a single pattern as a chain of nodes. */
function addRest(tree: Tree, { tokens, pattern }: Entry, { node, depth }: Branch) {
  tree.tokens.set(tokens.subarray(depth), tree.size)
  let last = node
  for (let at = depth; at < tokens.length; at++) {
    tree.firstChild[last] = tree.size
    tree.childrenEnd[last] = tree.size + 1
    last = tree.size++
  }
  tree.patternsAt.set(last, [pattern])
}

function addChildren(tree: Tree, sorted: Entry[], { node, from, to, depth }: Branch): Branch[] {
  let at = from
  while (at < to && sorted[at]!.tokens.length === depth) at++ // the shortest patterns come first
  if (at > from)
    tree.patternsAt.set(
      node,
      sorted.slice(from, at).map(({ pattern }) => pattern),
    )
  const children: Branch[] = []
  tree.firstChild[node] = tree.size
  while (at < to) {
    const begin = at
    const token = sorted[begin]!.tokens[depth]!
    while (at < to && sorted[at]!.tokens[depth] === token) at++
    tree.tokens[tree.size] = token
    children.push({ node: tree.size++, from: begin, to: at, depth: depth + 1 })
  }
  tree.childrenEnd[node] = tree.size
  return children
}

function compare(a: Uint32Array, b: Uint32Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}

/** Binary search: the index of a value in a sorted range, or -1. */
function placeIn(rising: Uint32Array, first: number, end: number, value: number): number {
  let low = first
  let high = end - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const found = rising[middle]!
    if (found === value) return middle
    if (found < value) low = middle + 1
    else high = middle - 1
  }
  return -1
}
