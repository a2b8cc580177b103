import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useWords } from '../words/words.ts'
import { OtherPrices } from './other-prices.tsx'
import { TariffTables } from './tariff-tables.tsx'
import { PriceTabs } from './tariff-tabs.tsx'
import { pricesQuery } from './tariffs.ts'

/** The prices of a company or a partner. */
export function PricesPage() {
  const { say } = useWords()
  const { company } = useSearch({ from: '/shell' })
  const { data, error, refetch } = useQuery(pricesQuery(company))
  return (
    <>
      <PageHead title={say('prices.title')} note={say('prices.note')} />
      <PriceTabs />
      {data ? (
        <>
          <TariffTables tariffs={data.tariffs} zone={data.zone} />
          <OtherPrices prices={data} />
        </>
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={8} />
      )}
    </>
  )
}
