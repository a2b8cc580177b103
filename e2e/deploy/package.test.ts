import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRoot } from '../../src/db/embedded/user.ts'
import {
  expectNothingRunning,
  type Service,
  start,
  startService,
  stop,
  useDataFolders,
} from '../../src/testing/processes.ts'
import { root } from './programs.ts'

const UNPRIVILEGED = { uid: 65534, gid: 65534 }
const user = isRoot() ? UNPRIVILEGED : undefined
const aDataFolder = useDataFolders()

let folder: string
let target: string
let program: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidings-package-'))
  execFileSync('chmod', ['755', folder])
  target = join(folder, 'tidings')
  program = join(target, 'bin/tidings')
  execFileSync(join(root, 'scripts/package.sh'), [target], { cwd: '/', stdio: 'pipe' })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the folder of scripts/package.sh', () => {
  test('has the program and its production dependencies, and neither tests nor tools of developers', async () => {
    const files = await readdir(target, { recursive: true })
    expect(files.filter(file => file.startsWith('src') && /\.test\.ts$|^src\/testing/.test(file))).toEqual([])
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
    const isOfDevelopers = (name: string) => packages[name].dev === true
    const isThere = (name: string) => existsSync(join(target, 'node_modules', name, 'package.json'))
    expect(Object.keys(dependencies).filter(name => !isThere(name))).toEqual([])
    const unneeded = Object.keys(packages).filter(isOfDevelopers)
    expect(unneeded).toContain('node_modules/vite')
    expect(unneeded.filter(path => existsSync(join(target, path, 'package.json')))).toEqual([])
  })

  test('a folder that exists is refused, so that an upgrade does not write into a running program', () => {
    expect(() => execFileSync(join(root, 'scripts/package.sh'), [target], { stdio: 'pipe' })).toThrow(/exists already/)
  })

  test('a service runs from it for a user that cannot write there, with the embedded database, and stops on SIGTERM', async () => {
    const data = await aDataFolder()
    if (user) execFileSync('chown', [String(user.uid), join(data, '..')])
    const env = { TIDINGS_DATA: data, TIDINGS_LOG_LEVEL: 'error' }
    const service = await startService(['serve'], env, user, program)
    await expectPages(service)
    const { port } = new URL(service.url)
    expect(await healthOf(env, ['--wait', '20'], port)).toEqual({ code: 0, stderr: '' })
    expect(await healthOf(env, ['--engine', '--wait', '20'], port)).toEqual({ code: 0, stderr: '' })

    expect(await stop(service)).toMatchObject({ code: 0, stderr: '' })
    expect(await healthOf(env, [], port)).toEqual({
      code: 1,
      stderr: `tidings: The HTTP server at http://localhost:${port}/healthz does not work: no answer.\n`,
    })
    await expectNothingRunning(data)
  })
})

async function expectPages({ url }: Service) {
  for (const path of ['/cabinet/', '/widget/VerifyWidget.umd.min.js', '/docs', '/readyz', '/metrics']) {
    expect({ path, status: (await fetch(url + path)).status }).toEqual({ path, status: 200 })
  }
}

async function healthOf(env: Record<string, string>, words: string[], port: string) {
  const { code, stderr } = await start(['health', ...words], { ...env, PORT: port }, user, program).ended
  return { code, stderr }
}

describe('the Dockerfile', () => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const allowed = readFileSync(join(root, '.dockerignore'), 'utf8').match(/(?<=^!).+$/gm)!

  test('builds with the tested script, and runs as a user that is not root', () => {
    expect(dockerfile).toMatch(/^RUN npm ci && scripts\/package\.sh \/opt\/tidings$/m)
    expect(dockerfile).toMatch(/^COPY --from=build \/opt\/tidings \/opt\/tidings$/m)
    expect(dockerfile).toMatch(/^USER 10001:10001$/m)
    expect(dockerfile).toMatch(/^ENTRYPOINT \["\/usr\/bin\/tini", "--", "tidings"\]$/m)
    expect(dockerfile).toMatch(/^HEALTHCHECK .* CMD \["tidings", "health"\]$/m)
  })

  test('.dockerignore lets through all that the package is made of, and no file that git does not know', () => {
    const script = readFileSync(join(root, 'scripts/package.sh'), 'utf8')
    const copied = script
      .match(/^cp -R (.*) "\$target"$/m)![1]!
      .split(' ')
      .filter(name => name !== 'dist')
    expect(allowed).toEqual(expect.arrayContaining([...copied, 'src', 'scripts', 'web', 'widget', 'tsconfig.json']))
    const known = execFileSync('git', ['ls-files', '--', ...allowed], { cwd: root, encoding: 'utf8' }).split('\n')
    expect(allowed.filter(name => !known.some(file => file === name || file.startsWith(`${name}/`)))).toEqual([])
    expect(readFileSync(join(root, '.dockerignore'), 'utf8')).toMatch(/^\*$/m)
  })
})
