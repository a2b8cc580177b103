/**
 * Makes the plan that the project carries from the official register: blocks of 50,000 numbers, each with the
 * operator and the region that most of it belongs to, equal neighbours merged. A block that is nearly empty is left
 * out.
 *
 *   node scripts/compact-plan.ts DEF-9xx.csv > src/domain/numbering/plan.csv
 *
 * How often the plan is right is its first line.
 */
import { createReadStream } from 'node:fs'
import { entriesOf } from '../src/domain/numbering/lines.ts'
import { codeOf } from '../src/domain/numbering/lookup.ts'
import { BLOCK_SIZE } from '../src/domain/numbering/plan.ts'
import { regionOf } from '../src/domain/numbering/region.ts'
import { CODE_SIZE, type PlanRange, readRegisterLine } from '../src/domain/numbering/register.ts'

/** So many numbers of a block belong to this operator and region. */
interface Share {
  inn: string
  region: string
  count: number
}

/** What the plan says about the blocks from first to last. */
interface Run {
  first: number
  last: number
  inn: string
  region: string
}

const LEAST_ASSIGNED = BLOCK_SIZE / 10
const BLOCKS_OF_CODE = CODE_SIZE / BLOCK_SIZE

async function main(files: string[]) {
  const ranges = (await Promise.all(files.map(readRegister))).flat()
  const shares = sharesOf(ranges)
  const runs = runsOf(shares)
  const inns = [...new Set(runs.map(run => run.inn))].sort()
  const lines = [...headOf(runs, shares), ...operatorLines(inns, ranges), ...codeLines(runs, inns)]
  process.stdout.write(`${lines.join('\n')}\n`)
}

async function readRegister(file: string): Promise<PlanRange[]> {
  const ranges: PlanRange[] = []
  for await (const batch of entriesOf(createReadStream(file), readRegisterLine)) {
    for (const { value } of batch) ranges.push(value)
  }
  return ranges
}

function sharesOf(ranges: PlanRange[]): Map<number, Share[]> {
  const shares = new Map<number, Share[]>()
  for (const { first, last, operator, region } of ranges) {
    for (let block = blockOf(first); block <= blockOf(last); block += 1) {
      const count = Math.min(last, (block + 1) * BLOCK_SIZE - 1) - Math.max(first, block * BLOCK_SIZE) + 1
      shares.set(block, [...(shares.get(block) ?? []), { inn: operator.inn, region, count }])
    }
  }
  return shares
}

const blockOf = (number: number) => Math.floor(number / BLOCK_SIZE)

function runsOf(shares: Map<number, Share[]>): Run[] {
  const runs: Run[] = []
  for (const block of [...shares.keys()].sort((a, b) => a - b)) {
    const content = shares.get(block)!
    if (sumOf(content) < LEAST_ASSIGNED) continue
    const run = { first: block, last: block, ...majorityOf(content) }
    const previous = runs.at(-1)
    if (previous && continues(previous, run)) previous.last = block
    else runs.push(run)
  }
  return runs
}

/** A wrong zone costs more than a wrong region: the zone is chosen first, then the region within it. */
function majorityOf(content: Share[]) {
  const zone = largest(content, share => regionOf(share.region).zone)
  const inZone = content.filter(share => regionOf(share.region).zone === zone)
  return { inn: largest(content, share => share.inn), region: largest(inZone, share => share.region) }
}

function largest(content: Share[], trait: (share: Share) => string): string {
  const groups = Object.entries(Object.groupBy(content, trait))
  return groups.sort(([, a], [, b]) => sumOf(b!) - sumOf(a!))[0]![0]
}

const sumOf = (content: Share[]) => content.reduce((sum, share) => sum + share.count, 0)

const continues = (a: Run, b: Run) =>
  a.inn === b.inn && a.region === b.region && b.first === a.last + 1 && b.first % BLOCKS_OF_CODE !== 0

function headOf(runs: Run[], shares: Map<number, Share[]>): string[] {
  const all = [...shares.values()].flat()
  const right = (fits: (share: Share, run: Run) => boolean) => {
    const fitting = runs.flatMap(run => blocksIn(run).flatMap(block => shares.get(block)!.filter(s => fits(s, run))))
    return `${((100 * sumOf(fitting)) / sumOf(all)).toFixed(1)} %`
  }
  const operators = right((share, run) => share.inn === run.inn)
  const zones = right((share, run) => regionOf(share.region).zone === regionOf(run.region).zone)
  const regions = right((share, run) => share.region === run.region)
  return [
    `# Right for ${operators} of the assigned numbers by operator, ${zones} by time zone, ${regions} by region.`,
    '# Made by scripts/compact-plan.ts; the form is described in plan.ts.',
  ]
}

const blocksIn = (run: Run) => Array.from({ length: run.last - run.first + 1 }, (_, i) => run.first + i)

function operatorLines(inns: string[], ranges: PlanRange[]): string[] {
  const names = new Map(ranges.map(({ operator }) => [operator.inn, operator.name]))
  return inns.map((inn, key) => `operator;${key};${inn};${names.get(inn)}`)
}

function codeLines(runs: Run[], inns: string[]): string[] {
  const byCode = Map.groupBy(runs, run => codeOf(run.first * BLOCK_SIZE))
  return [...byCode].map(([code, ofCode]) => [code, ...ofCode.flatMap((run, i) => items(run, ofCode[i + 1]))].join(';'))

  function items({ first, last, inn, region }: Run, next: Run | undefined): string[] {
    const item = `${blockInCode(first)} ${inns.indexOf(inn)} ${region}`
    const gap = next ? next.first > last + 1 : blockInCode(last) < BLOCKS_OF_CODE - 1
    return gap ? [item, `${blockInCode(last + 1)}`] : [item]
  }
}

const blockInCode = (block: number) => block % BLOCKS_OF_CODE

await main(process.argv.slice(2))
