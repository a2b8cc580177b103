import { useMediaQuery } from '@mantine/hooks'

/** The screen is as narrow as a phone. The style sheets use the same width. */
export const useIsNarrow = (): boolean =>
  useMediaQuery('(max-width: 760px)', undefined, { getInitialValueInEffect: false })
