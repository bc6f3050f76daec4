#pragma once
#include "caravan/v1/app.pb-c.h"
#include "caravan/v1/edge.pb-c.h"
#include "caravan/v1/model.pb-c.h"
#include "caravan/v1/notify.pb-c.h"
#include "caravan/v1/query.pb-c.h"
#include "caravan/v1/schema.pb-c.h"
#include "caravan/v1/storage.pb-c.h"
