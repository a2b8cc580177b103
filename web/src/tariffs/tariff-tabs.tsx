import { Tabs } from '../parts/pages/tabs.tsx'
import { useWords } from '../words/words.ts'

/** Tabs for the prices and the calculator, for people who manage tariffs. */
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

/** The same tabs for people who only see their own prices. */
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
