/** Search words of pages in both languages, because not every person knows our names. */
const terms: Record<string, string> = {
  '/overview': 'overview dashboard home обзор сводка главная',
  '/dispatches': 'dispatches campaigns bulk рассылки кампании',
  '/messages': 'messages sms search сообщения поиск',
  '/review': 'review moderation queue approve проверка модерация очередь одобрение',
  '/gateways': 'gateways operators smpp routes шлюзы операторы маршруты',
  '/send': 'send one message отправить одно сообщение',
  '/senders': 'senders sender names alpha name имена отправителей подпись',
  '/documents': 'documents letters files документы письма файлы',
  '/templates': 'templates patterns шаблоны',
  '/links': 'short links clicks короткие ссылки переходы клики',
  '/inbound': 'incoming inbound traffic centers rules входящие центры правила',
  '/verification': 'verification codes widgets otp верификация подтверждение коды виджеты',
  '/blacklist': 'blacklist stop list чёрный черный список стоп-лист',
  '/partners': 'partners agencies партнёры партнеры',
  '/companies': 'companies clients customers компании клиенты',
  '/money':
    'money balance budget ledger statements payments top-up деньги баланс бюджет выписки акты платежи пополнение',
  '/developers': 'developers api keys callbacks webhooks requests разработчикам ключи вебхуки запросы',
  '/prices': 'prices tariffs цены тарифы',
  '/tariffs': 'tariffs prices calculator тарифы цены калькулятор',
  '/numbering':
    'numbering plan ranges ported mnp operators нумерация номера диапазоны перенесённые перенесенные операторы',
  '/people': 'people users staff roles invite invitation люди пользователи сотрудники роли приглашение',
  '/audit': 'audit log history changes журнал аудит история изменения',
  '/health': 'health status engines processes database disk состояние здоровье движки процессы база данных диск',
  '/account':
    'account profile password two-factor 2fa totp sessions language theme sign out профиль аккаунт пароль двухфакторная второй шаг сеансы язык тема выход',
}

export const termsOf = (to: string): string => terms[to] ?? ''
