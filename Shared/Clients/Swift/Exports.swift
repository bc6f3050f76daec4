/// Values of the product's interface (`Value`, `LinkClass`, `CaravanError`, …): an app imports CaravanClient alone.
@_exported public import CaravanModel
