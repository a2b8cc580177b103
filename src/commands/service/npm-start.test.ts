import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { projectDir } from '../../base/process/project.ts'
import { eventually } from '../../testing/eventually.ts'
import { expectNothingRunning, processesOf, useDataFolders } from '../../testing/processes.ts'

const aDataFolder = useDataFolders()
let folder: string

beforeAll(async () => {
  folder = await aDataFolder()
})

/** `npm start` as a supervisor would start it, once the service has said that it is up. */
async function npmStart(): Promise<ChildProcess> {
  const npm = spawn('npm', ['start'], {
    cwd: projectDir,
    env: {
      PATH: process.env.PATH,
      HOME: tmpdir(),
      TIDINGS_DATA: folder,
      TIDINGS_ENV_FILE: '/dev/null',
      TIDINGS_LOG_LEVEL: 'warn',
      TIDINGS_PASSWORD_COST: '14',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  npm.stdout!.setEncoding('utf8').on('data', piece => {
    printed += piece
  })
  await eventually(() => expect(printed).toContain('Tidings is up'))
  return npm
}

test.each(['SIGTERM', 'SIGKILL'] as const)('the service ends cleanly when `npm start` gets a %s', async signal => {
  const npm = await npmStart()
  const commands = (await processesOf(folder)).map(({ command }) => command)
  expect(commands).toContainEqual(expect.stringMatching(/main\.ts serve/))
  expect(commands).toContainEqual(expect.stringMatching(/main\.ts engine/))
  expect(commands).toContainEqual(expect.stringMatching(/bin\/postgres/))
  npm.kill(signal)
  await once(npm, 'exit')
  await eventually(() => expectNothingRunning(folder))
  expect(existsSync(join(folder, 'postgres/postmaster.pid'))).toBe(false)
})
