/** Names of pages in the navigation, problems, and lists: words that every page may need. */
export const shared = {
  'nav.audit': 'Журнал',
  'nav.blacklist': 'Чёрный список',
  'nav.companies': 'Компании',
  'nav.partners': 'Партнёры',
  'problem.companyChanged':
    'Компанию тем временем изменил кто-то другой. Закройте окно, посмотрите новые значения и повторите изменение.',
  'nav.developers': 'Разработчикам',
  'problem.tooManyToSort':
    'Компаний слишком много, чтобы упорядочить их по расходам. Откройте партнёра или упорядочьте их по имени.',
  'problem.changedMeanwhile':
    'Кто-то уже изменил эти данные. Закройте форму, посмотрите новые значения и измените их ещё раз.',
  'nav.documents': 'Документы',
  'nav.gateways': 'Шлюзы',
  'nav.health': 'Состояние',
  'nav.inbound': 'Входящие',
  'nav.links': 'Ссылки',
  'nav.money': 'Деньги',
  'problem.keyUsed':
    'Прошлая попытка из этой формы уже принята. Закройте форму и посмотрите, что записано, прежде чем повторять.',
  'problem.termsChanged':
    'Кто-то уже изменил бюджет или способ оплаты. Закройте окно, проверьте новые значения и измените их снова.',
  'nav.numbering': 'Нумерация',
  'nav.review': 'Проверка',
  'nav.senders': 'Имена',
  'problem.nameSuspended': 'Имя отправителя приостановлено.',
  'problem.nameNotApproved': 'Имя отправителя не согласовано.',
  'problem.budget': 'Не хватает месячного бюджета компании.',
  'problem.balance': 'Не хватает денег на балансе компании.',
  'problem.notFree': 'С предоплаченного баланса можно снять только свободные деньги.',
  'problem.companyDisabled': 'Компания отключена.',
  'problem.tooManyDispatches':
    'Слишком много рассылок идёт или ждёт своего времени. Запустите эту, когда закончатся другие.',
  'problem.priceChanged': 'Цена тем временем изменилась. Попробуйте ещё раз, чтобы увидеть новую.',
  'problem.nameTaken': 'Это имя уже запрошено или зарегистрировано.',
  'list.columns': 'Столбцы',
  'list.page': 'Страница {page} из {pages}',
  'list.previous': 'Назад',
  'list.next': 'Дальше',
  'list.nothing.title': 'Ничего не найдено',
  'list.nothing.text': 'Попробуйте другие слова или другой статус.',
  'list.nothing.reset': 'Показать все',
  'nav.tariffs': 'Тарифы',
  'nav.prices': 'Цены',
  'nav.templates': 'Шаблоны',
  'nav.verification': 'Верификация',
}
