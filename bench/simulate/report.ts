import { CHUNKS_PER_GATEWAY } from '../../src/engine/sending/turn.ts'
import { type Cost, type Costs, mixOf } from './costs.ts'
import { type Fairness, fairnessOf, type Recovery, recoveryOf, type Setup } from './scenarios.ts'
import { limitsOf, type Plan, sizingOf } from './sizing.ts'
import { inWords, shown, tableOf } from './table.ts'

/** What the command line may change. */
export type Choices = Omit<Plan, 'perDay'> & {
  perDay: number[]
  /** The share of single messages. */
  singles: number
  companies: number
  skew: number
  gateways: number
  answerMs: number
  failoverSeconds: number
  restartSeconds: number
  seed: number
}

export type Tables = { costs: string; sizing: string; limits: string; fairness: string; recovery: string }

export function tablesOf(costs: Costs, choices: Choices): Tables {
  const cost = mixOf(costs, choices.singles)
  const plans = choices.perDay.map(perDay => ({ ...choices, perDay }))
  return {
    costs: costsTable(costs),
    sizing: sizingTable(cost, plans),
    limits: limitsTable(cost, choices),
    ...simulated(cost, choices, plans),
  }
}

function costsTable({ singles, dispatch }: Costs): string {
  const rows: [string, keyof Cost, string][] = [
    ['processor, API', 'api', 'ms'],
    ['processor, engine', 'engine', 'ms'],
    ['processor, database', 'database', 'ms'],
    ['rows', 'rows', 'bytes'],
    ['indexes', 'indexes', 'bytes'],
    ['WAL', 'wal', 'bytes'],
    ['transactions', 'commits', ''],
    ['synchronizations of the WAL', 'syncs', ''],
  ]
  return tableOf(
    ['Of one message', 'single', 'of a dispatch', 'unit'],
    rows.map(([what, key, unit]) => [what, shown(singles[key]), shown(dispatch[key]), unit]),
  )
}

function sizingTable(cost: Cost, plans: Plan[]): string {
  return tableOf(
    [
      'Messages a day',
      'a second, peak',
      'HTTP processes',
      'engines',
      'database cores',
      'servers',
      'connections',
      'GB a day',
      'TB kept',
      'WAL MB/s',
      'syncs/s',
    ],
    plans.map(plan => {
      const size = sizingOf(cost, plan)
      const { perSecond, apiProcesses, engines, databaseCores, shards, connections } = size
      const { gigabytesPerDay, terabytesKept, walMegabytesPerSecond, syncsPerSecond } = size
      return [
        inWords(plan.perDay),
        ...[perSecond, apiProcesses, engines, databaseCores, shards, connections].map(shown),
        ...[gigabytesPerDay, terabytesKept, walMegabytesPerSecond, syncsPerSecond].map(shown),
      ]
    }),
  )
}

function limitsTable(cost: Cost, choices: Choices): string {
  const limits = limitsOf(cost, { ...choices, perDay: 0 })
  return tableOf(
    ['Reached at, messages a day', 'Used up', 'The setting that moves it'],
    limits.map(({ what, perDay, setting }) => [inWords(perDay), what, setting]),
  )
}

/** Two engines and one server of the planned size at least, so that a node can be lost. */
function setupOf(cost: Cost, choices: Choices, plan: Plan): Setup {
  const { engines, shards } = sizingOf(cost, plan)
  const { gateways, answerMs, companies, skew, seed, coresOfServer } = choices
  return {
    engines: Math.max(2, engines),
    shards,
    coresOfShard: coresOfServer,
    places: gateways * CHUNKS_PER_GATEWAY,
    answerSeconds: answerMs / 1000,
    cost,
    companies,
    skew,
    seed,
  }
}

type Simulated = { plan: Plan; setup: Setup; fairness: Fairness; killed: Recovery; drained: Recovery; shard: Recovery }

function simulated(cost: Cost, choices: Choices, plans: Plan[]): Pick<Tables, 'fairness' | 'recovery'> {
  const all = plans.map((plan): Simulated => {
    const setup = setupOf(cost, choices, plan)
    const { perSecond } = sizingOf(cost, plan)
    const { restartSeconds, failoverSeconds } = choices
    const lost = (isKilled: boolean) => recoveryOf(setup, perSecond, { kind: 'engine', isKilled, restartSeconds })
    return {
      plan,
      setup,
      fairness: fairnessOf(setup),
      killed: lost(true),
      drained: lost(false),
      shard: recoveryOf(setup, perSecond, { kind: 'shard', awaySeconds: failoverSeconds }),
    }
  })
  return { fairness: fairnessTable(all), recovery: recoveryTable(all) }
}

const fairnessTable = (all: Simulated[]) =>
  tableOf(
    [
      'Messages a day',
      'engines',
      "Jain's index",
      "worst company's share",
      'largest company accepted',
      'largest company got',
    ],
    all.map(({ plan, setup, fairness: { jain, worst, largestDemand, largest } }) => [
      inWords(plan.perDay),
      String(setup.engines),
      jain.toFixed(4),
      worst.toFixed(2),
      percent(largestDemand),
      percent(largest),
    ]),
  )

const recoveryTable = (all: Simulated[]) =>
  tableOf(
    [
      'Messages a day',
      'Lost',
      'leases taken over after',
      'worst second, of the load',
      'caught up after',
      'other servers below half',
    ],
    all.flatMap(({ plan, setup, killed, drained, shard }) => {
      const rowOf = (what: string, { takenOver, worstSecond, caughtUp, slowSecondsOfOthers }: Recovery) => [
        inWords(plan.perDay),
        what,
        takenOver === 0 ? '' : `${takenOver.toFixed(1)} s`,
        percent(worstSecond),
        `${caughtUp} s`,
        setup.shards === 1 ? '' : `${slowSecondsOfOthers} s`,
      ]
      return [
        rowOf(`one of ${setup.engines} engines, killed`, killed),
        rowOf(`one of ${setup.engines} engines, drained`, drained),
        rowOf(`one of ${setup.shards} servers, until its standby works`, shard),
      ]
    }),
  )

const percent = (share: number) => `${shown(share * 100)} %`
