import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Where `npm run dev` serves the API, unless told otherwise. */
const service = process.env.TIDINGS_URL ?? 'http://localhost:8080'
const DEV_BASE = '/cabinet/'

/**
 * Fewer files for a page, and so fewer requests: the script that every page begins with is one file, what many pages
 * need is another, and small modules that several pages share are joined. Without groups, a page loaded 80 to 100 files.
 */
const chunks = [
  { name: 'start', tags: ['$initial' as const], priority: 3 },
  { name: 'common', minShareCount: 6, priority: 2 },
  { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 12_000, priority: 1 },
]

/** Rolldown names a shared chunk after every page that uses it: too long for a file name. */
const nameOfChunk = ({ name }: { name: string }) => `assets/${name.split('~')[0]}-[hash].js`

export default defineConfig(({ command }) => ({
  // Built addresses are relative: the server writes where the cabinet is into the index.
  base: command === 'serve' ? DEV_BASE : './',
  plugins: [react(), command === 'serve' ? indexOfDevelopment() : waitForScript(), askForFont()],
  build: {
    outDir: '../dist/cabinet',
    emptyOutDir: true,
    // The first that know the CSS function light-dark().
    target: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: chunks }, chunkFileNames: nameOfChunk } },
    chunkSizeWarningLimit: 700,
    cssCodeSplit: false, // 37 kB, compressed, for all pages; and rules come in the same order on each of them
  },
  server: { proxy: { '/cabinet/api': service } },
}))

/** The service fills in these places when it sends the index. */
const indexOfDevelopment = (): Plugin => ({
  name: 'index-of-development',
  transformIndexHtml: html => html.replaceAll('%BASE%', DEV_BASE).replaceAll('%NONCE%', 'development'),
})

/** Nothing is painted before the script has chosen the theme: no white flash in the dark one. */
const waitForScript = (): Plugin => ({
  name: 'wait-for-script',
  transformIndexHtml: {
    order: 'post',
    handler: html => html.replaceAll('<script type="module"', '<script type="module" blocking="render"'),
  },
})

/** Every page writes in it. Without this line the browser asks for it only when it has text to draw. */
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
