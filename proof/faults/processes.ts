import { setTimeout as pause } from 'node:timers/promises'
import { pidsOfTree } from '../../bench/peers/processes.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { signal } from '../../src/testing/signal.ts'
import type { Installation } from '../installation/installation.ts'
import { type Fault, OF_ALL_ENGINES, OF_ONE_ENGINE } from './fault.ts'

const FROZEN_MS = 30_000

/** SIGKILL and SIGSTOP of each process. */
export const processFaults: Fault[] = [
  {
    name: 'kill-engine',
    about: 'SIGKILL of one of two engines',
    mostTwice: OF_ONE_ENGINE,
    strike: async installation => signal((await installation.engines())[0]!, 'SIGKILL'),
  },
  {
    name: 'kill-api',
    about: 'SIGKILL of one of two HTTP processes',
    mostTwice: 0,
    strike: async installation => signal((await installation.apis())[0]!, 'SIGKILL'),
  },
  {
    name: 'kill-parent',
    about: 'SIGKILL of `tidings serve`: its children end, and it is started again',
    mostTwice: OF_ALL_ENGINES,
    strike: killParent,
  },
  {
    name: 'freeze-engine',
    about: 'SIGSTOP of one engine for 30 seconds',
    mostTwice: OF_ONE_ENGINE,
    strike: async installation => freeze([(await installation.engines())[0]!]),
  },
  {
    name: 'freeze-api',
    about: 'SIGSTOP of one HTTP process for 30 seconds',
    mostTwice: 0,
    strike: async installation => freeze([(await installation.apis())[0]!]),
  },
  {
    name: 'freeze-parent',
    about: 'SIGSTOP of `tidings serve` for 30 seconds',
    mostTwice: 0,
    strike: installation => freeze([installation.parent]),
  },
  {
    name: 'freeze-database',
    about: 'SIGSTOP of all processes of PostgreSQL for 30 seconds',
    mostTwice: OF_ALL_ENGINES,
    strike: async installation => freeze(await pidsOfTree(await installation.postmaster())),
  },
]

/** The promise that children end with their parent is part of it. */
async function killParent(installation: Installation) {
  const children = [...(await installation.apis()), ...(await installation.engines())]
  signal(installation.parent, 'SIGKILL')
  await eventually(async () => {
    const left = [...(await installation.apis()), ...(await installation.engines())]
    if (left.some(pid => children.includes(pid))) throw new Error('children of the killed process are still there')
  })
  await installation.startService()
}

async function freeze(pids: number[]) {
  for (const pid of pids) signal(pid, 'SIGSTOP')
  await pause(FROZEN_MS)
  for (const pid of pids) signal(pid, 'SIGCONT')
}
