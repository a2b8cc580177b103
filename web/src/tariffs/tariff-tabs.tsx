import { Tabs } from '../parts/pages/tabs.tsx'
import { useWords } from '../words/words.ts'

/** The prices, and what they come to. */
export function TariffTabs() {
  const { say } = useWords()
  return (
    <Tabs
      label={say('tariffs.title')}
      tabs={[
        { to: '/tariffs', name: say('tariffs.tab.prices') },
        { to: '/tariffs/calculator', name: say('tariffs.tab.calculator') },
      ]}
    />
  )
}

/** The same for those who only see what they pay. */
export function PriceTabs() {
  const { say } = useWords()
  return (
    <Tabs
      label={say('prices.title')}
      tabs={[
        { to: '/prices', name: say('tariffs.tab.prices') },
        { to: '/prices/calculator', name: say('tariffs.tab.calculator') },
      ]}
    />
  )
}
