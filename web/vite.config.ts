import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Where `npm run dev` serves the API, unless told otherwise. */
const service = process.env.TIDINGS_URL ?? 'http://localhost:8080'
const DEV_BASE = '/cabinet/'

export default defineConfig(({ command }) => ({
  // Built addresses are relative: the server writes where the cabinet is into the index.
  base: command === 'serve' ? DEV_BASE : './',
  plugins: [react(), command === 'serve' ? indexOfDevelopment() : waitForScript()],
  build: {
    outDir: '../dist/cabinet',
    emptyOutDir: true,
    // The first that know the CSS function light-dark().
    target: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    manifest: true,
    reportCompressedSize: false,
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
    handler: html => html.replace('<script type="module"', '<script type="module" blocking="render"'),
  },
})
