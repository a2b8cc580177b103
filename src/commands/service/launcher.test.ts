import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectDir } from '../../base/process/project.ts'

let project: string

beforeAll(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'tidings-launcher-')))
  await cp(join(projectDir, 'bin'), join(project, 'bin'), { recursive: true })
})
afterAll(() => rm(project, { recursive: true, force: true }))

const run = () => spawnSync(join(project, 'bin/tidings'), ['serve'], { encoding: 'utf8', cwd: '/' })

test('before `npm ci` it says to run it', () => {
  const { status, stderr } = run()
  expect({ status, stderr }).toEqual({ status: 1, stderr: `tidings: run \`npm ci\` in ${project} first.\n` })
})

test('after `npm ci --ignore-scripts` it names the missing part and the command that installs it', async () => {
  await mkdir(join(project, 'node_modules/.bin'), { recursive: true })
  const { status, stderr } = run()
  expect(status).toBe(1)
  expect(stderr).toMatch(
    /^tidings: the Node\.js that Tidings runs on is missing, [^\n]+ `npm rebuild --ignore-scripts=false node` in [^\n]+\n$/,
  )
})

test.skipIf(!existsSync('/dev/full'))('a full disk behind the output is told in a sentence', () => {
  const { status, stderr } = spawnSync('sh', ['-c', 'bin/tidings --version >/dev/full'], {
    encoding: 'utf8',
    cwd: projectDir,
  })
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^tidings: The output could not be written: ENOSPC[^\n]+\.\n$/),
  })
})
