import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin, type Rolldown } from 'vite'
import { filesNeededBy, plainScripts } from './build/plain-scripts.ts'

/** The URL of `npm run dev`, unless TIDINGS_URL names another. */
const service = process.env.TIDINGS_URL ?? 'http://localhost:8080'
const DEV_BASE = '/cabinet/'

/**
 * Groups modules to reduce the number of files, and so of requests: one file with the start script of every page, one
 * file with the modules that many pages need, and files that join small shared modules. Without groups, a page loaded
 * 80 to 100 files.
 */
const chunks = [
  { name: 'start', tags: ['$initial' as const], priority: 3 },
  { name: 'common', minShareCount: 6, priority: 2 },
  { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 12_000, priority: 1 },
]

/** Rolldown names a shared chunk after every page that uses it, which is too long for a file name. */
const nameOfChunk = ({ name }: { name: string }) => `assets/${name.split('~')[0]}-[hash].js`

export default defineConfig(({ command }) => ({
  // The URLs of the build are relative. The server writes the base URL of the cabinet into the index.
  base: command === 'serve' ? DEV_BASE : './',
  plugins: [
    react(),
    command === 'serve' ? indexOfDevelopment() : waitForScript(),
    askForFont(),
    askForDrawing(),
    plainScripts(),
    compileEarly(),
  ],
  build: {
    outDir: '../dist/cabinet',
    emptyOutDir: true,
    // The first versions that support the CSS function light-dark().
    target: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: chunks }, chunkFileNames: nameOfChunk } },
    chunkSizeWarningLimit: 700,
    cssCodeSplit: false, // 37 kB, compressed, for all pages; and the rules have the same order on each page
  },
  server: { proxy: { '/cabinet/api': service } },
}))

/** Fills in the places of the index that the service fills in otherwise. */
const indexOfDevelopment = (): Plugin => ({
  name: 'index-of-development',
  transformIndexHtml: html => html.replaceAll('%BASE%', DEV_BASE).replaceAll('%NONCE%', 'development'),
})

/**
 * The first script is a plain script, which runs when the index is parsed. The browser paints nothing before the script
 * has chosen the theme, so that a dark page does not flash white.
 */
const waitForScript = (): Plugin => ({
  name: 'wait-for-script',
  transformIndexHtml: {
    order: 'post',
    handler: html => html.replaceAll('<script type="module" crossorigin', '<script defer blocking="render"'),
  },
})

/** Preloads the font of every page. Without it the browser requests the font only when it has text to draw. */
const askForFont = (): Plugin => ({
  name: 'ask-for-font',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle = {} }) =>
      Object.keys(bundle)
        .filter(file => /inter-latin-.*\.woff2$/.test(file))
        .map(file => ({
          tag: 'link',
          attrs: { rel: 'preload', href: `./${file}`, as: 'font', type: 'font/woff2', crossorigin: true },
          injectTo: 'head',
        })),
  },
})

/** Preloads the scripts that draw, which the start script imports while it runs. */
const askForDrawing = (): Plugin => ({
  name: 'ask-for-drawing',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle = {} }) =>
      filesOf('/draw.tsx', bundle).map(file => ({
        tag: 'link',
        attrs: { rel: 'preload', href: `./${file}`, as: 'script' },
        injectTo: 'head',
      })),
  },
})

const COMPILE_ALL = '//# allFunctionsCalledOnLoad'

/**
 * Tells the browser to compile all functions of the start script and of the scripts that draw while it loads them, in a
 * thread of its own. Otherwise it compiles each function where it is first called, while the page waits. A first page
 * calls about 60 % of these functions. Of other files it calls too few: https://v8.dev/blog/explicit-compile-hints
 */
const compileEarly = (): Plugin => ({
  name: 'compile-early',
  augmentChunkHash: () => COMPILE_ALL,
  generateBundle: {
    order: 'post', // the comment must be the first line, and another plugin writes before the code
    handler(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === 'chunk' && (chunk.isEntry || chunk.facadeModuleId?.endsWith('/draw.tsx')))
          chunk.code = `${COMPILE_ALL}\n${chunk.code}`
      }
    },
  },
})

/** The file that begins with a module, and the files that it needs. */
function filesOf(module: string, bundle: Rolldown.OutputBundle): string[] {
  const chunks = Object.values(bundle).filter(chunk => chunk.type === 'chunk')
  const first = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(module))?.fileName
  if (!first) throw new Error(`No file of the build begins with ${module}: the index cannot preload it`)
  return [first, ...filesNeededBy(first, bundle)]
}
