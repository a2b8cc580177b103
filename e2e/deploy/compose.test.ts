import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { isInNetworks, readNetwork } from '../../src/base/network/networks.ts'
import { commands } from '../../src/commands/all-commands.ts'
import { STOPPED_WITHIN_MS } from '../../src/commands/service/stopping.ts'
import { loadConfig, settings } from '../../src/config.ts'
import { root } from './programs.ts'

/** compose.yaml cannot be run without images. These tests compare it with everything that it names. */

type Service = {
  image: string
  build?: string
  command?: string[]
  environment?: Record<string, string>
  healthcheck?: { disable?: boolean; test?: string[] }
  depends_on?: string[] | Record<string, { condition: string }>
  volumes?: string[]
  networks?: { default: { ipv4_address: string } }
  ports?: string[]
  stop_grace_period?: string
}
type Compose = {
  services: Record<string, Service>
  volumes: Record<string, null>
  networks: { default: { ipam: { config: { subnet: string }[] } } }
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const text = read('compose.yaml')
const example = parseEnv(read('deploy/compose.env.example'))
const filled = {
  ...example,
  TIDINGS_SECRET: 'x'.repeat(64),
  POSTGRES_PASSWORD: 'secret',
  REPLICATION_PASSWORD: 'secret',
}
const { services, volumes, networks }: Compose = parse(withValues(text), { merge: true })
const ofTidings = Object.entries(services).filter(([, { image }]) => image === 'tidings')

/** As compose does it: `${NAME}`, `${NAME:-default}`, `${NAME:?}`. */
function withValues(text: string): string {
  return text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name, sign, rest) =>
    String(filled[name as keyof typeof filled] || (sign === '-' ? rest : '')),
  )
}

test('the example names every value that compose.yaml asks for, and no other', () => {
  const asked = new Set([...text.matchAll(/\$\{(\w+)(?::\?|:-\})/g)].map(([, name]) => name))
  expect(new Set(Object.keys(example))).toEqual(asked)
})

test('there are a primary and a standby, two HTTP processes behind a proxy, two engines, Prometheus and Grafana', () => {
  const running = (command: string) => ofTidings.filter(([, service]) => service.command![0] === command).length
  expect({ api: running('api'), engine: running('engine'), migrate: running('migrate') }).toEqual({
    api: 2,
    engine: 2,
    migrate: 1,
  })
  expect(Object.keys(services)).toEqual(
    expect.arrayContaining(['primary', 'standby', 'proxy', 'prometheus', 'grafana']),
  )
})

describe.each(Object.entries(services))('the service %s', (_, service) => {
  test('waits only for services that exist and can be healthy', () => {
    const { depends_on = [] } = service
    const waits = Array.isArray(depends_on)
      ? depends_on.map(name => ({ name, condition: 'service_started' }))
      : Object.entries(depends_on).map(([name, { condition }]) => ({ name, condition }))
    for (const { name, condition } of waits) {
      expect(services).toHaveProperty(name)
      const hasCheck = services[name]!.healthcheck !== undefined || services[name]!.image === 'tidings'
      if (condition === 'service_healthy') expect({ name, hasCheck }).toEqual({ name, hasCheck: true })
      if (condition === 'service_completed_successfully') expect(services[name]!.command).toEqual(['migrate'])
    }
  })

  test('mounts files of the project that exist, and volumes that are declared', () => {
    for (const [source] of (service.volumes ?? []).map(volume => volume.split(':') as [string, string])) {
      if (source.startsWith('./'))
        expect({ source, isThere: existsSync(join(root, source)) }).toEqual({ source, isThere: true })
      else expect(volumes).toHaveProperty(source)
    }
  })
})

describe.each(ofTidings)('the process %s', (_, { command, environment, healthcheck, stop_grace_period }) => {
  test('runs a command, with settings that exist and are valid', () => {
    expect(commands.map(({ name }) => name)).toContain(command![0])
    const known = Object.values(settings).map(({ name }) => name)
    expect(Object.keys(environment!).filter(name => !known.includes(name))).toEqual([])
    expect(loadConfig(environment!)).toMatchObject({ metrics: true, publicUrl: example.TIDINGS_PUBLIC_URL })
  })

  test('has the time that it takes to stop', () => {
    expect(Number.parseInt(stop_grace_period!, 10) * 1000).toBeGreaterThan(STOPPED_WITHIN_MS)
  })

  test('is checked in a way that fits: an engine has no port', () => {
    if (command![0] === 'engine') expect(healthcheck?.test).toEqual(['CMD', 'tidings', 'health', '--engine'])
    if (command![0] === 'api') expect(healthcheck).toBeUndefined()
  })
})

test('only the proxy is trusted, and only Prometheus reads the metrics', () => {
  const addressOf = (name: string) => services[name]!.networks!.default.ipv4_address
  const network = readNetwork(networks.default.ipam.config[0]!.subnet)!
  for (const name of ['proxy', 'prometheus']) expect(isInNetworks([network], addressOf(name))).toBe(true)
  const { trustedProxies, metricsAllow } = loadConfig(services['api-1']!.environment!)
  expect({ trustedProxies, metricsAllow }).toEqual({
    trustedProxies: [addressOf('proxy')],
    metricsAllow: [addressOf('prometheus')],
  })
})

test('the proxy and Prometheus know every HTTP process', () => {
  const processes = ofTidings.filter(([, { command }]) => command![0] === 'api').map(([name]) => `${name}:8080`)
  expect(services.proxy!.environment!.TIDINGS_UPSTREAMS!.split(' ')).toEqual(processes)
  const { scrape_configs } = parse(read('deploy/prometheus/prometheus.yml'))
  expect(scrape_configs[0].static_configs[0].targets).toEqual(processes)
})

test('PostgreSQL has connections for all processes and more', () => {
  const { databaseConnections } = loadConfig(services['api-1']!.environment!)
  for (const name of ['primary', 'standby']) {
    const most = Number(services[name]!.command!.join(' ').match(/max_connections=(\d+)/)![1])
    expect(most).toBeGreaterThan(2 * ofTidings.length * (databaseConnections + 1))
  }
})

test('only the proxy is open to the network', () => {
  for (const [name, { ports = [] }] of Object.entries(services)) {
    if (name !== 'proxy') expect(ports.filter(port => !port.startsWith('127.0.0.1:'))).toEqual([])
  }
})
