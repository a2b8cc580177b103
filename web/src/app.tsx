import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { colorSchemeManager, cssVariablesResolver, theme } from './look/theme.ts'
import { router } from './router.tsx'
import { queryClient } from './session.ts'

export const App = ({ nonce }: { nonce: string }) => (
  <MantineProvider
    theme={theme}
    cssVariablesResolver={cssVariablesResolver}
    colorSchemeManager={colorSchemeManager}
    defaultColorScheme="auto"
    getStyleNonce={() => nonce}
  >
    <QueryClientProvider client={queryClient}>
      <Notifications position="bottom-right" limit={3} autoClose={5000} />
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>
)
