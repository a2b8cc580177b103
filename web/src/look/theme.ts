import {
  type CSSVariablesResolver,
  createTheme,
  localStorageColorSchemeManager,
  type MantineColorsTuple,
  Modal,
} from '@mantine/core'
import { THEME_KEY } from './first-theme.ts'

/** Mantine in the look of the cabinet. Its variables refer to the colours, sizes and spaces of `tokens.css`. */
export const theme = createTheme({
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: 'var(--t-12)', sm: 'var(--t-13)', md: 'var(--t-14)', lg: 'var(--t-16)', xl: 'var(--t-22)' },
  radius: { xs: 'var(--r-1)', sm: 'var(--r-2)', md: 'var(--r-3)' },
  shadows: { xs: 'var(--shadow-1)', sm: 'var(--shadow-1)', md: 'var(--shadow-2)', lg: 'var(--shadow-2)' },
  defaultRadius: 'sm',
  primaryColor: 'accent',
  colors: { accent: same('#3450d6'), red: same('#c53442') },
  respectReducedMotion: true,
  components: {
    Button: {
      defaultProps: { size: 'sm', variant: 'default' },
      vars: (_: unknown, { size }: { size?: string }) => ({
        root: {
          '--button-height': size === 'md' ? '40px' : 'var(--control)',
          '--button-padding-x': size === 'md' ? '16px' : '12px',
          '--button-fz': size === 'md' ? 'var(--t-14)' : 'var(--t-13)',
        },
      }),
      styles: { root: { fontWeight: 'var(--w-medium)' }, section: { marginInlineEnd: 6 } },
    },
    Input: {
      defaultProps: { size: 'sm' },
      vars: (_: unknown, { size }: { size?: string }) => ({
        wrapper: {
          '--input-height': size === 'md' ? '40px' : 'var(--control)',
          '--input-fz': `var(--input-text, var(${size === 'md' ? '--t-14' : '--t-13'}))`,
          '--input-bg': 'var(--bg)',
        },
      }),
    },
    InputWrapper: {
      defaultProps: { size: 'sm', inputWrapperOrder: ['label', 'input', 'description', 'error'] },
      styles: {
        label: { fontSize: 'var(--t-13)', fontWeight: 'var(--w-medium)', marginBottom: 6, lineHeight: 'var(--lh)' },
        description: { fontSize: 'var(--t-12)', lineHeight: '16px', color: 'var(--text-3)' },
        error: { fontSize: 'var(--t-12)', lineHeight: '16px' },
      },
    },
    Modal: Modal.extend({
      defaultProps: {
        centered: true,
        radius: 'md',
        size: 440,
        padding: 24,
        transitionProps: { duration: 100 },
        overlayProps: { color: 'var(--scrim)', backgroundOpacity: 1 },
        closeButtonProps: { 'aria-label': '×' },
      },
    }),
    Menu: { defaultProps: { radius: 'md', shadow: 'md', transitionProps: { duration: 80 } } },
    Popover: { defaultProps: { radius: 'md', shadow: 'md', transitionProps: { duration: 80 } } },
  },
})

/** Mantine wants ten shades. The cabinet uses no shades: each colour has a name in `tokens.css`. */
function same(colour: string): MantineColorsTuple {
  return [colour, colour, colour, colour, colour, colour, colour, colour, colour, colour]
}

const variables = {
  '--mantine-color-body': 'var(--bg)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-dimmed': 'var(--text-2)',
  '--mantine-color-placeholder': 'var(--text-3)',
  '--mantine-color-anchor': 'var(--accent-text)',
  '--mantine-color-error': 'var(--fail-text)',
  '--mantine-color-default': 'var(--bg)',
  '--mantine-color-default-hover': 'var(--bg-well)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-default-border': 'var(--line-strong)',
  '--mantine-color-disabled': 'var(--bg-well)',
  '--mantine-color-disabled-color': 'var(--text-3)',
  '--mantine-color-accent-filled': 'var(--accent)',
  '--mantine-color-accent-filled-hover': 'var(--accent-hover)',
  '--mantine-color-accent-light': 'var(--accent-soft)',
  '--mantine-color-accent-light-hover': 'var(--accent-soft)',
  '--mantine-color-accent-light-color': 'var(--accent-text)',
  '--mantine-color-red-filled': '#c53442',
  '--mantine-color-red-filled-hover': '#ad2a37',
}

export const cssVariablesResolver: CSSVariablesResolver = () => ({ variables, light: variables, dark: variables })

/** The theme is stored on the device, so that the page has the right theme before the person is known. */
export const colorSchemeManager = localStorageColorSchemeManager({ key: THEME_KEY })
