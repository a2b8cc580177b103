export const THEME_KEY = 'tidings-theme'

/** Runs before the first paint, and before Mantine is loaded, so that a page in the dark theme does not flash white. */
export function showTheme() {
  const chosen = localStorage.getItem(THEME_KEY)
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.mantineColorScheme = isDark ? 'dark' : 'light'
}
